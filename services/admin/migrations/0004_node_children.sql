-- The children of a node: listed when a client opens it, and looked for when lists mark parents.
CREATE INDEX node_executions_parent_node ON node_executions (execution_id, parent_node_id) WHERE parent_node_id IS NOT NULL;
