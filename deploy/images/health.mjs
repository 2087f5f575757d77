// HEALTHCHECK of the images: status 0 when the service can work.
const url = process.env.HEALTH_URL ?? "http://127.0.0.1:10254/readyz";
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_500) });
  process.stdout.write((await answer.text()).slice(0, 500));
  process.exit(answer.ok ? 0 : 1);
} catch (error) {
  process.stdout.write(`${url}: ${error instanceof Error ? (error.cause?.message ?? error.message) : String(error)}\n`);
  process.exit(1);
}
