import { getRouteApi } from "@tanstack/react-router";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { usePageTitle } from "../../frame/use-page-title.js";
import { useScope } from "../../frame/use-scope.js";
import { launchSearch } from "../../route/launch-search.js";
import { LaunchForm } from "./launch-form.js";
import styles from "./launch-page.module.css";
import { useTarget } from "./use-target.js";

const route = getRouteApi("/projects/$project/domains/$domain/launch");

/** Form that starts an execution of a workflow, launch plan or task, or starts one again. */
export function LaunchPage() {
  const scope = useScope();
  const address = launchSearch.read(route.useSearch());
  const { search, target, isMissing, source, isReady, runs, error } = useTarget(scope, address);
  usePageTitle(target === undefined ? "Launch" : `Launch ${target.id.name}`);
  if (target === undefined || !isReady)
    return (
      <div className={styles.missing}>
        <h1>Launch</h1>
        {error !== null ? (
          <ErrorPanel title="What is to be launched cannot be read" error={error} />
        ) : (
          isMissing && <Empty title="There is nothing to launch here">Open a workflow, launch plan or task, and choose Launch there.</Empty>
        )}
      </div>
    );
  const { id, kind } = target;
  return (
    <LaunchForm key={JSON.stringify([kind, id, search.from])} scope={scope} search={search} target={target} source={source} runs={runs} />
  );
}
