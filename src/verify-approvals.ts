// Checks an approvals export from its lines alone: no store, no database.

import { nodeEnvironment } from './environment.ts'
import { type ExportCheck, type ExportLines, type ExportReport, verifyExport } from './model/approval-export.ts'

/** Takes lines of NDJSON without line ends, as text or as bytes. The report names the first line that differs from the export. */
export const verifyApprovals = (lines: ExportLines, check?: ExportCheck): Promise<ExportReport> =>
  verifyExport(nodeEnvironment.digest.sha256, lines, check)
