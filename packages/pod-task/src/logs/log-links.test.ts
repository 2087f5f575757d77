import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import type { Pod } from "../pod-types.js";
import { type LogLink, logLinks } from "./log-links.js";

const pod: Pod = {
  metadata: { name: "x-n0-0", namespace: "p-d", uid: "u-1", creationTimestamp: "2026-01-02T03:04:05Z" },
  spec: { containers: [{ name: "main" }], nodeName: "node-7" },
  status: {
    containerStatuses: [
      { name: "main", containerID: "containerd://abc", state: { terminated: { exitCode: 0, finishedAt: "2026-01-02T03:05:00Z" } } },
    ],
  },
};
const link = (uri: string, over: Partial<LogLink> = {}): LogLink => ({
  name: "Logs",
  uris: [uri],
  showWhilePending: false,
  hideOnceFinished: false,
  ...over,
});
const request = sampleRequest("python-task");
if (request.template !== undefined) request.template.config = { link_type: "profiler,other", port: "8080" };
const links = (...given: LogLink[]) => logLinks(given, { pod, request, now: new Date("2026-01-02T04:00:00Z") });

describe("log links", () => {
  it("links to the Kubernetes dashboard have Go Flyte's form", () => {
    const [log] = links(
      link("http://localhost:30082/#!/log/{{ .namespace }}/{{ .podName }}/pod?namespace={{ .namespace }}", { name: "Kubernetes Logs" }),
    );
    expect(log).toMatchObject({
      uri: "http://localhost:30082/#!/log/p-d/x-n0-0/pod?namespace=p-d",
      name: "Kubernetes Logs (User)",
      messageFormat: 2,
    });
  });

  it.each([
    ["{{.PODNAME}} {{$podUID}} {{ .containerName }} {{.containerId}} {{.nodeName}}", "x-n0-0 u-1 main abc node-7"],
    [
      "{{.podRFC3339StartTime}} {{.podUnixStartTime}} {{.podRFC3339FinishTime}} {{.podUnixFinishTime}}",
      "2026-01-02T03:04:05Z 1767323045 2026-01-02T03:05:00Z 1767323100",
    ],
    [
      "{{.executionProject}}/{{.executionDomain}}/{{.executionName}}/{{.nodeID}}/{{.taskRetryAttempt}}",
      "p/development/a1b2c3d4e5f6g7h8i9j0/n0/0",
    ],
    [
      "{{.taskProject}} {{.taskDomain}} {{.taskID}} {{.taskVersion}} {{.generatedName}}",
      "p development tasks.work v1 a1b2c3d4e5f6g7h8i9j0-n0-0",
    ],
    ["{{ .taskConfig.port }}", "8080"],
    ["{{ .hostname }} {{ .unknown }} {{ .taskConfig.none }}", "{{ .hostname }} {{ .unknown }} {{ .taskConfig.none }}"],
  ])("%s", (template, uri) => {
    expect(links(link(template))[0]?.uri).toBe(uri);
  });

  it("names the pod by its suffix", () => {
    const [log] = logLinks([link("{{ .logName }}")], { pod, request, now: new Date(0), suffix: " (Driver)" });
    expect(log).toMatchObject({ uri: " (Driver)", name: "Logs (Driver)" });
  });

  it("renders variables in the name of a link", () => {
    expect(links(link("a", { name: "Logs of {{ .containerName }}" }))[0]?.name).toBe("Logs of main (User)");
  });

  it("a link with a type appears only for tasks that name the type", () => {
    expect(links(link("a", { linkType: "profiler" }), link("b", { linkType: "absent" }), link("c")).map(({ uri }) => uri)).toEqual([
      "a",
      "c",
    ]);
  });
});
