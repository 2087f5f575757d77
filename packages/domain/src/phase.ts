export {
  NodePhase,
  nodePhases,
  isTerminalNode,
  isTerminalNodeEvent,
  nodeEventPhase,
  type NodePhaseRow,
} from "./phase/node.js";
export {
  WorkflowPhase,
  workflowPhases,
  isTerminalWorkflow,
  isTerminalWorkflowEvent,
  workflowEventPhase,
  type WorkflowPhaseRow,
} from "./phase/workflow.js";
export {
  TaskPhase,
  taskPhases,
  isTerminalTaskEvent,
  taskEventPhase,
  taskPhaseOfEvent,
  type TaskPhaseRow,
} from "./phase/task.js";
