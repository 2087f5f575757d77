/** Maximum of start batches per reconcile; nodes started together share one status write. */
export const MAX_START_BATCHES = 64;

/**
 * Time after which a reconcile processes no further observations, ms: the rest waits for the
 * workflow's next one. Short beside other workflows: each node of a chain waits for two or three
 * reconciles of a busy workflow. Long when alone: the changes of one reconcile share a write and
 * batches of messages.
 */
export const MAX_RECONCILE_MS = { alone: 50, shared: 4 };

/**
 * Nodes that an observation reconciles beside other workflows when it starts nodes: the expansion
 * of sub-workflows then occupies the event loop for about 5 ms.
 */
export const MAX_SHARED_RECONCILES = 64;
