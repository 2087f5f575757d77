import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ExecutionRow } from "../../api/execution-row.js";
import type { ExecutionKey, Scope } from "../../api/scope.js";
import { Button, IconButton } from "../../control/button.js";
import { CauseDialog } from "../../control/cause-dialog.js";
import { useRights } from "../../frame/use-role.js";
import { useApp } from "../../app/app.js";
import { type BulkResult, runBulk } from "./bulk.js";
import styles from "./bulk-bar.module.css";
import { BulkResults } from "./bulk-results.js";

interface BulkBarProps {
  readonly scope: Scope;
  readonly rows: readonly ExecutionRow[];
  onClear(): void;
}

/** Acts on the selected executions, with a result for each. */
export function BulkBar({ scope, rows, onClear }: BulkBarProps) {
  const { api } = useApp();
  const client = useQueryClient();
  const { refusal } = useRights(scope);
  const [asking, setAsking] = useState(false);
  const [results, setResults] = useState<readonly BulkResult<ExecutionKey>[]>();
  const running = rows.filter(({ look }) => !look.terminal);
  const failed = rows.filter(({ look }) => look.terminal && look.kind !== "ok");
  const run = async (on: readonly ExecutionRow[], act: (key: ExecutionKey) => Promise<string | undefined>): Promise<void> => {
    const keys = on.map(({ key }) => key);
    await runBulk(keys, act, setResults);
    await client.invalidateQueries({ queryKey: ["newest executions"] });
  };
  const refused = refusal("runner");
  const none = (left: readonly ExecutionRow[], reason: string): string | undefined => refused ?? (left.length === 0 ? reason : undefined);
  return (
    <>
      <div className={styles.bar} role="toolbar" aria-label="Acts on the selected executions">
        <b>{rows.length} selected</b>
        <Button
          small
          icon="repeat"
          refused={none(failed, "None of them has failed")}
          onClick={() => void run(failed, async (key) => (await api.executions.recover(key)).id?.name)}
        >
          Recover
        </Button>
        <Button
          small
          icon="run"
          refused={refused}
          onClick={() => void run(rows, async (key) => (await api.executions.relaunch(key)).id?.name)}
        >
          Relaunch
        </Button>
        <Button small icon="stop" kind="danger" refused={none(running, "None of them is running")} onClick={() => setAsking(true)}>
          Abort
        </Button>
        <IconButton icon="close" label="Clear the selection" onClick={onClear} />
      </div>
      {asking && (
        <CauseDialog
          title={running.length === 1 ? "Abort 1 execution" : `Abort ${running.length} executions`}
          onClose={() => setAsking(false)}
          onConfirm={(cause) => {
            setAsking(false);
            void run(running, async (key) => {
              await api.executions.abort(key, cause);
              return undefined;
            });
          }}
        />
      )}
      {results !== undefined && <BulkResults results={results} onClose={() => setResults(undefined)} />}
    </>
  );
}
