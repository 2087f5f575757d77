import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ExecutionRow } from "../../api/execution-row.js";
import type { ExecutionKey } from "../../api/scope.js";
import { Button } from "../../control/button.js";
import { CauseDialog } from "../../control/cause-dialog.js";
import { Menu } from "../../control/menu.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { useRights } from "../../frame/use-role.js";
import { useKeys } from "../../app/use-keys.js";
import { useApp } from "../../app/app.js";
import { copyItems } from "./copy-items.js";
import styles from "./execution-acts.module.css";

/** Acts on an execution; one that would be refused says which role it needs. */
export function ExecutionActs({ executionKey: key, row }: { readonly executionKey: ExecutionKey; readonly row: ExecutionRow }) {
  const { api, toasts } = useApp();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { refusal } = useRights(key);
  const [asking, setAsking] = useState(false);
  const failedTo = (verb: string) => (error: Error) =>
    toasts.show({ kind: "bad", text: `${key.name} cannot be ${verb}: ${error.message}` });
  const copied = (id: { readonly name?: string } | undefined): void => {
    if (id?.name === undefined) return;
    toasts.show({ kind: "ok", text: `Started ${id.name}` });
    void navigate({ to: `${SCOPE_PATH}/executions/$name`, params: { ...key, name: id.name }, search: {} });
  };
  const recover = useMutation({
    mutationFn: () => api.executions.recover(key),
    onSuccess: ({ id }) => copied(id),
    onError: failedTo("recovered"),
  });
  const relaunch = (): void => {
    if (refused === undefined) void navigate({ to: `${SCOPE_PATH}/launch`, params: key, search: { from: key.name } });
  };
  const abort = useMutation({
    mutationFn: (cause: string) => api.executions.abort(key, cause),
    onSuccess: () => client.invalidateQueries({ queryKey: ["execution", key] }),
    onError: failedTo("aborted"),
  });
  const refused = refusal("runner");
  const { terminal, kind } = row.look;
  const canRecover = terminal && kind !== "ok";
  useKeys([{ keys: "r", label: "Relaunch", group: "Execution", run: relaunch }]);
  return (
    <div className={styles.acts}>
      {canRecover && (
        <Button kind="primary" icon="repeat" refused={refused} disabled={recover.isPending} onClick={() => recover.mutate()}>
          Recover from here
        </Button>
      )}
      <Button icon="run" refused={refused} onClick={relaunch}>
        Relaunch…
      </Button>
      <Menu label="Copy as" icon="copy" items={copyItems(key, toasts)}>
        Copy as
      </Menu>
      {!terminal && (
        <Button kind="danger" icon="stop" refused={refused} disabled={abort.isPending} onClick={() => setAsking(true)}>
          Abort
        </Button>
      )}
      {asking && (
        <CauseDialog
          title={`Abort ${key.name}`}
          onClose={() => setAsking(false)}
          onConfirm={(cause) => {
            setAsking(false);
            abort.mutate(cause);
          }}
        />
      )}
    </div>
  );
}
