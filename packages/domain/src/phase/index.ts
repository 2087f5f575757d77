export {
  NodePhase,
  nodePhases,
  isTerminalNode,
  isTerminalNodeEvent,
  nodeEventPhase,
  type NodePhaseRow,
} from "./node.js";
export {
  WorkflowPhase,
  workflowPhases,
  isTerminalWorkflow,
  isTerminalWorkflowEvent,
  workflowEventPhase,
  type WorkflowPhaseRow,
} from "./workflow.js";
export {
  TaskPhase,
  taskPhases,
  isTerminalTaskEvent,
  taskEventPhase,
  taskPhaseOfEvent,
  type TaskPhaseRow,
} from "./task.js";
