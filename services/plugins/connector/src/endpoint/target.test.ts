import { expect, test } from "vitest";
import { parseTarget } from "./target.js";

test.each([
  ["connectors:8000", "connectors:8000"],
  ["10.0.0.1:8000", "10.0.0.1:8000"],
  ["[::1]:8000", "[::1]:8000"],
  ["http://connectors:8000", "connectors:8000"],
  ["https://connectors.example.com:443/", "https://connectors.example.com:443"],
  ["dns:///connectors.flyte:8000", "connectors.flyte:8000"],
  ["k8s://flyteconnector.flyte:8000", "flyteconnector.flyte.svc:8000"],
  ["k8s:///flyteconnector.flyte.svc.cluster.local:8000", "flyteconnector.flyte.svc:8000"],
])("%s is a target", (address, endpoint) => {
  expect(parseTarget(address)).toEqual({ endpoint });
});

test.each(["connectors", "connectors:port", "dns://8.8.8.8/connectors:8000", "k8s://flyteconnector:8000", "unix:///run/x:1", "a b:1", ""])(
  "%j is none",
  (address) => {
    expect(parseTarget(address)).toBeUndefined();
  },
);
