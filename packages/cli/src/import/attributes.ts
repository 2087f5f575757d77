import { Code } from "@flyte-ts/client";
import { MatchableResource, type MatchableAttributesConfiguration } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { isCode, retryWhileUnavailable, permanentErrorMessage } from "./admin-calls.js";
import type { ImportedProject } from "./projects.js";
import type { ImportContext } from "./run-import.js";

const ATTRIBUTE_KINDS = Object.values(MatchableResource).filter((kind): kind is MatchableResource => typeof kind === "number");

/** Copies settings of projects, domains and workflows from the source to the target. */
export async function importAttributes({ from, to, report }: ImportContext, projects: readonly ImportedProject[]): Promise<void> {
  for (const resourceType of ATTRIBUTE_KINDS) {
    const { configurations } = await retryWhileUnavailable(() => from.admin.listMatchableAttributes({ resourceType })).catch(
      (error: unknown) => {
        // Kinds that the source does not support.
        if (isCode(error, Code.INVALID_ARGUMENT) || isCode(error, Code.NOT_FOUND)) return { configurations: [] };
        throw error;
      },
    );
    for (const configuration of configurations) {
      const { project, domain, workflow, launchPlan } = configuration;
      const known = projects.find(({ project: { id } }) => id === project);
      if (project !== "" && known === undefined) continue;
      if (domain !== "" && known !== undefined && !known.domains.includes(domain)) continue;
      const what = `${MatchableResource[resourceType]} ${[project || "*", domain || "*", workflow, launchPlan].filter((part) => part !== "").join("/")}`;
      try {
        const written = await writeAttributes(to, configuration);
        if (written) report.record("attributes", "imported");
        else report.skip({ kind: "attributes", what, why: "no published call writes attributes at this level" });
      } catch (error) {
        report.skip({ kind: "attributes", what, why: permanentErrorMessage(error) });
      }
    }
  }
}

async function writeAttributes(to: ImportContext["to"], configuration: MatchableAttributesConfiguration): Promise<boolean> {
  const { project, domain, workflow, launchPlan, attributes: matchingAttributes } = configuration;
  if (matchingAttributes === undefined || project === "" || launchPlan !== "") return false;
  if (workflow !== "") {
    if (domain === "") return false;
    await retryWhileUnavailable(() => to.admin.updateWorkflowAttributes({ attributes: { project, domain, workflow, matchingAttributes } }));
  } else if (domain !== "") {
    await retryWhileUnavailable(() => to.admin.updateProjectDomainAttributes({ attributes: { project, domain, matchingAttributes } }));
  } else {
    await retryWhileUnavailable(() => to.admin.updateProjectAttributes({ attributes: { project, matchingAttributes } }));
  }
  return true;
}
