// Standard event types for agents. They are documented so that tools can read each other's journals, and they are not reserved. The listed
// data is a convention; unknown members are kept.

export interface CatalogueEntry {
  readonly type: string
  readonly means: string
  readonly data: string
}

const entry = (type: string, means: string, data: string): CatalogueEntry => ({ type, means, data })

export const catalogue: readonly CatalogueEntry[] = [
  entry('agent.started', 'an agent began to work on something', '{ agent, model?, goal? }'),
  entry('agent.stopped', 'it stopped of its own accord', '{ agent, reason? }'),
  entry('agent.handed-over', 'another agent goes on', '{ from, to, reason? }'),
  entry('message.received', 'someone said something to the agent', '{ message, role, text? }'),
  entry('message.sent', 'the agent said something', '{ message, role, text? }'),
  entry('model.called', 'a model was asked', '{ model, provider?, call, parameters? }'),
  entry('model.answered', 'it answered', '{ call, finish, usage? }'),
  entry('model.failed', 'it did not', '{ call, error, retryable? }'),
  entry('tool.called', 'a tool was called', '{ tool, call, arguments }'),
  entry('tool.returned', 'it returned', '{ call, result? }'),
  entry('tool.failed', 'it failed', '{ call, error, retryable? }'),
  entry('plan.changed', 'the plan is another one now', '{ steps }'),
  entry('thought.noted', 'reasoning worth keeping', '{ text }'),
  entry('artifact.made', 'something to keep was produced', '{ name, mediaType?, blob? }'),
  entry('step.started', 'a step of an execution began', '{ step, name?, input? }'),
  entry('step.completed', 'it is done', '{ step, output? }'),
  entry('step.failed', 'it failed', '{ step, error, retryable? }'),
  entry('step.discovered', 'a step was added to the plan while it ran', '{ step, name?, by? }'),
  entry('execution.paused', 'an execution waits for something outside it', '{ execution, reason? }'),
  entry('execution.resumed', 'it goes on', '{ execution }'),
  entry('execution.checkpointed', 'a checkpoint of an execution was saved', '{ execution, checkpoint?, step? }'),
  entry('artifact.stored', 'the bytes of an artifact were stored', '{ name, mediaType?, blob }'),
  entry('goal.evaluated', 'somebody judged whether the goal is reached', '{ goal, reached, score?, reason? }'),
  entry('policy.checked', 'a rule was asked whether something may be done', '{ policy, subject, allowed, reason? }'),
  entry('error.raised', 'something went wrong outside a tool or a model', '{ error, where? }'),
]
