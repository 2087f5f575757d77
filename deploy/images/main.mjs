// Process 1 of a container: a signal that nobody handles does not end it. Until the service handles signals itself nothing is under way
// that could be lost, also while it waits for its database for minutes.
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(0);
  });
}
await import("./service.mjs");
