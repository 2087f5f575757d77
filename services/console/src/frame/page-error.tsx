import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Empty, ErrorPanel } from "../control/error-panel.js";

/** Address without a page. */
export function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>The address may be mistyped or of another version of the console.</p>
      <Link to="/">Go home</Link>
    </Empty>
  );
}

/** Page that failed. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return <ErrorPanel title="The page failed" isPage error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />;
}
