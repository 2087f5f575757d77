// Entry point of the containers: process 1 ignores a signal without a handler. Exit on signals
// until the service installs its own handlers: nothing that could be lost is in progress before,
// even while it waits minutes for its database.
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(0);
  });
}
await import("./service.mjs");
