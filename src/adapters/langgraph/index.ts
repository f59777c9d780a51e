// `inkfast/langgraph`: a checkpoint saver and a store for LangGraph.

export { type CheckpointStore, InkfastSaver, type PruneStrategy, type SaverOptions } from './saver.ts'
export { InkfastStore } from './store.ts'
