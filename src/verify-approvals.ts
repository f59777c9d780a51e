// Checks an approvals export for whoever has its lines: no store, no database.

import { nodeEnvironment } from './environment.ts'
import { type ExportCheck, type ExportLines, type ExportReport, verifyExport } from './model/approval-export.ts'

/** Lines of NDJSON without their ends, as text or as bytes. The report names the first line that is not what was exported. */
export const verifyApprovals = (lines: ExportLines, check?: ExportCheck): Promise<ExportReport> =>
  verifyExport(nodeEnvironment.digest.sha256, lines, check)
