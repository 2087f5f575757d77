import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ExecutionRow } from "../../api/execution-row.js";
import type { Scope } from "../../api/scope.js";
import { useApp, useNow, usePreferences } from "../../app/app.js";
import { useKeys } from "../../app/use-keys.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { zoneName } from "../../format/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { useRights } from "../../frame/use-role.js";
import { differences } from "../../literal/convert/differences.js";
import { FieldContext } from "../../literal/form/field-context.js";
import type { LaunchSearch } from "../../route/launch-search.js";
import { putFile, sendFiles } from "../../upload/send-files.js";
import { CommandPane } from "./command-pane.js";
import { InputList } from "./input-list.js";
import { LaunchBar } from "./launch-bar.js";
import { LaunchChecks } from "./launch-checks.js";
import { LaunchHeader } from "./launch-header.js";
import styles from "./launch-page.module.css";
import { buildRequest } from "./launch-request.js";
import { type LaunchSource, startState } from "./launch-state.js";
import { SettingsForm } from "./settings-form.js";
import type { LaunchTarget } from "./target.js";
import { useLaunchState } from "./use-launch-state.js";

const MINUTE_MS = 60_000;

interface LaunchFormProps {
  readonly scope: Scope;
  readonly search: LaunchSearch;
  readonly target: LaunchTarget;
  readonly source: LaunchSource | undefined;
  readonly runs: readonly ExecutionRow[];
}

/** Inputs and settings of a launch, its commands beside them, and the button that starts it. */
export function LaunchForm({ scope, search, target, source, runs }: LaunchFormProps) {
  const { api, toasts } = useApp();
  const navigate = useNavigate();
  const zone = zoneName(usePreferences().zone) ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [start] = useState(() => startState(target, zone, source));
  const { state, setState, open } = useLaunchState(search, start);
  const [isTried, setTried] = useState(false);
  const [uploads, setUploads] = useState<ReadonlySet<string>>(new Set());
  const { refusal, subject } = useRights(scope);
  const nowMs = useNow(MINUTE_MS);
  const { request, inputs, problems } = buildRequest(scope, target, state, search.from);
  const launch = useMutation({
    mutationFn: () => api.executions.create(request),
    onSuccess: ({ id }) => {
      const name = id?.name ?? "";
      toasts.show({ kind: "ok", text: `Started ${name}` });
      void navigate({ to: `${SCOPE_PATH}/executions/$name`, params: { ...scope, name }, search: {} });
    },
  });
  const refused = refusal("runner");
  const submit = (): void => {
    setTried(true);
    const [first] = problems;
    if (first !== undefined) reveal(first.path);
    else if (uploads.size === 0 && refused === undefined && !launch.isPending) launch.mutate();
  };
  useKeys([{ keys: "mod+enter", label: "Launch", group: "Everywhere", run: submit }]);
  // A value that has not been entered yet is no mistake until someone launches.
  const shown = problems.filter(({ isEmpty }) => isTried || isEmpty !== true);
  const upload = (files: readonly File[], progress: (share: number) => void, signal: AbortSignal): Promise<string> =>
    sendFiles({ api: api.data, scope, put: putFile, folder: `console-${crypto.randomUUID()}` }, files, progress, signal);
  const changed =
    search.from === "" ? [] : target.inputs.flatMap(({ name, type }) => differences(type, start.values[name], state.values[name], name));
  return (
    <FieldContext
      value={{
        problems: new Map(shown.map(({ path, text }) => [path, text])),
        zone,
        nowMs,
        upload,
        uploads,
        onUpload: (path, isRunning) => setUploads((now) => new Set(isRunning ? [...now, path] : [...now].filter((each) => each !== path))),
      }}
    >
      <form
        className={styles.page}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <LaunchHeader target={target} search={search} runs={runs} onOpen={open} onReset={() => setState(start)} />
        <div className={styles.form}>
          <div className={styles.fields}>
            {launch.error !== null && <ErrorPanel title="The execution was not started" error={launch.error} />}
            <InputList
              target={target}
              state={state}
              start={start}
              isMarked={search.from !== ""}
              onChange={(values) => setState({ ...state, values })}
            />
            <SettingsForm
              settings={state.settings}
              start={start.settings}
              plan={target.plan}
              onChange={(settings) => setState({ ...state, settings })}
            />
          </div>
        </div>
        <aside className={styles.side} aria-label="The same launch elsewhere">
          <CommandPane
            facts={{
              request,
              kind: target.kind,
              origin: location.origin,
              inputs: inputs.map(({ input: { name, type }, literal }) => ({ name, type, literal })),
            }}
            isSignedIn={subject !== ""}
            changed={changed}
            from={search.from}
          />
          <LaunchChecks target={target} problems={problems} uploads={uploads.size} refused={refused} />
        </aside>
        <LaunchBar problems={problems.length} uploads={uploads.size} refused={refused} isPending={launch.isPending} runs={runs} />
      </form>
    </FieldContext>
  );
}

/** Moves the focus to the control of a path, or to the first one below it. */
function reveal(path: string): void {
  const field = document.getElementById(`value-${path}`) ?? document.querySelector(`[data-field="${CSS.escape(path)}"]`);
  field?.scrollIntoView({ block: "center" });
  const control = field?.matches("input, textarea, select, button") ? field : field?.querySelector("input, textarea, select, button");
  if (control instanceof HTMLElement) control.focus();
}
