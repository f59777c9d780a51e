// The types of this feature that users see.

export type { Canvas, CanvasMoment, CanvasState, CanvasUpdateOptions } from './canvas.ts'
export type { CanvasSummary, ListCanvasesOptions, RecoverOptions, RecoverReport, StoreCanvases } from './canvases.ts'
export type { CompactReport } from './compact.ts'
export type { CanvasChange, CanvasHistoryOptions } from './history.ts'
export type { CanvasOptions } from './options.ts'
export type { RunCanvas } from './run-canvas.ts'
export type { CanvasEvent, SubscribeOptions } from './subscribe.ts'
