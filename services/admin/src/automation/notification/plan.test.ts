import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { expect, test } from "vitest";
import { notificationsSchema } from "./config-schema.js";
import { endedExecution, notification } from "./completed-execution.fixture.js";
import { planDeliveries } from "./plan.js";
import { escapeHtml, render } from "./render.js";

const url = "https://hooks.example.com/x";
const secret = { env: "S" };
const config = notificationsSchema.parse({
  emailer: { subject: 'S {{name}} "{{ phase }}"', body: "B {{ error }}" },
  slack: { text: "{{ project }}{{ error }}" },
  webhooks: [
    { name: "ops", url, secret },
    { name: "chat", kind: "slack", url, projects: ["p"], domains: ["d", "e"] },
    { name: "elsewhere", kind: "slack", url, projects: ["q"] },
    { name: "failures", url, secret, phases: ["FAILED", "TIMED_OUT"] },
    { name: "failures-of-q", url, secret, projects: ["q"], phases: ["FAILED"] },
  ],
});
const own = { ...config, webhooks: config.webhooks.slice(0, 3) };
const receivers = (notifications: ReturnType<typeof notification>[]) =>
  planDeliveries(endedExecution({ notifications }), own).map(({ channel, target }) => `${channel} ${target}`);

test("each recipient gets one message through the channel of its address", () => {
  const addresses = ["ann@example.com", "webhook:ops", "webhook:chat", "webhook:missing", "https://hooks.example.com/a"];
  expect(receivers([notification("email", addresses)])).toEqual([
    "email ann@example.com",
    "webhook webhook:ops",
    "slack webhook:chat",
    "webhook webhook:missing",
    // A URL is not a mail address: its delivery will fail for this reason.
    "email https://hooks.example.com/a",
  ]);
  expect(receivers([notification("slack", ["chan@example.slack.com", "https://hooks.example.com/a"])])).toEqual([
    "email chan@example.slack.com",
    "slack https://hooks.example.com/a",
  ]);
  expect(receivers([notification("pagerDuty", ["p@pagerduty.com"])])).toEqual(["email p@pagerduty.com"]);
  // A recipient that is named twice gets one message.
  expect(receivers([notification("email", ["a@x.y", "a@x.y"]), notification("pagerDuty", ["a@x.y"])])).toEqual(["email a@x.y"]);
});

test("only the configured phases are notified, for rules of launch plans and of the configuration", () => {
  const wanted = endedExecution({ notifications: [notification("email", ["a@x.y"])] });
  expect(planDeliveries(wanted, config).map(({ target }) => target)).toEqual(["a@x.y", "webhook:failures"]);
  expect(planDeliveries({ ...wanted, phase: WorkflowExecution_Phase.SUCCEEDED }, config)).toEqual([]);
  expect(planDeliveries({ ...wanted, phase: WorkflowExecution_Phase.TIMED_OUT }, config)).toHaveLength(1);
});

test("a message id depends only on the end of the execution and the recipient", () => {
  const idsOf = (changes: object) =>
    planDeliveries(endedExecution({ notifications: [notification("email", ["a@x.y", "b@x.y"])], ...changes }), own).map(
      ({ messageId }) => messageId,
    );
  expect(idsOf({})).toEqual(idsOf({ rowId: 2n }));
  expect(new Set([...idsOf({}), ...idsOf({ name: "y" }), ...idsOf({ acceptedNs: 1n })]).size).toBe(6);
  expect(idsOf({})[0]).toMatch(/^msg_[0-9a-f]{32}$/);
});

test("mails, Slack messages and events escape texts of users and expand no placeholders in them", () => {
  const notifications = [notification("email", ["a@x.y", "webhook:ops"]), notification("slack", [url])];
  const [mail, event, slack] = planDeliveries(endedExecution({ notifications }), own);
  expect(JSON.parse(mail?.content ?? "")).toEqual({
    subject: 'S x "failed"',
    html: "B  The execution failed with error: [it &lt;b&gt;broke&lt;/b&gt; &amp; {{ name }}].",
  });
  expect(JSON.parse(slack?.content ?? "")).toEqual({
    text: "p The execution failed with error: [it &lt;b&gt;broke&lt;/b&gt; &amp; {{ name }}].",
  });
  expect(JSON.parse(event?.content ?? "")).toEqual({
    type: "execution.failed",
    timestamp: "2023-11-14T22:13:22.500Z",
    data: {
      execution: { project: "p", domain: "d", name: "x" },
      phase: "FAILED",
      workflow: { project: "p", domain: "d", name: "w", version: "v" },
      launched: { project: "p", domain: "d", name: "lp", version: "v" },
      principal: "ann",
      labels: { team: "a" },
      createdAt: "2023-11-14T22:13:20.000Z",
      startedAt: "2023-11-14T22:13:21.000Z",
      endedAt: "2023-11-14T22:13:22.500Z",
      error: { kind: "USER", code: "Oops", message: "it <b>broke</b> & {{ name }}" },
      abort: null,
    },
  });
  // A mail's own template has precedence over the platform's.
  const [templated] = planDeliveries(
    endedExecution({ notifications: [notification("email", ["a@x.y"], { template: "T {{ domain }}" })] }),
    own,
  );
  expect(JSON.parse(templated?.content ?? "")).toMatchObject({ html: "T d" });
});

test("all placeholders of Flyte are expanded, and no others", () => {
  const names = ["project", "domain", "name", "phase", "error"];
  const of = (entity: string) => ["project", "domain", "name", "version"].map((each) => `${entity}.${each}`);
  const all = [...names, ...of("workflow"), ...of("launch_plan")];
  const execution = endedExecution({ error: undefined });
  expect(render(all.map((name) => `{{ ${name} }}`).join("|"), execution)).toBe("p|d|x|failed||p|d|w|v|p|d|lp|v");
  expect(render(all.map((name) => `{{${name}}}`).join("|"), execution)).toBe("p|d|x|failed||p|d|w|v|p|d|lp|v");
  for (const text of ["{{ nothing }}", "{{ constructor }}", "{{  name  }}", "{{ name}}", "{ name }"])
    expect(render(text, execution)).toBe(text);
  expect(render("{{ name }}", endedExecution({ name: `<'"$&` }), escapeHtml)).toBe("&lt;&#39;&quot;$&amp;");
});

test.each([
  ["a signed webhook without a secret", { webhooks: [{ name: "a", url }] }],
  ["a Slack webhook with a secret", { webhooks: [{ name: "a", kind: "slack", url, secret }] }],
  ["neither url nor urlFrom", { webhooks: [{ name: "a", secret }] }],
  ["both url and urlFrom", { webhooks: [{ name: "a", url, urlFrom: { env: "A" }, secret }] }],
  ["a secret with two sources", { webhooks: [{ name: "a", url, secret: { env: "A", file: "b" } }] }],
  ["a duplicate name", { webhooks: [1, 2].map(() => ({ name: "a", url, secret })) }],
  ["a phase that is not terminal", { webhooks: [{ name: "a", url, secret, phases: ["RUNNING"] }] }],
  ["an invalid network", { allowNetworks: ["10.0.0.0"] }],
  ["a password without a user", { emailer: { smtp: { host: "h", password: { env: "P" } } } }],
  ["a literal secret", { webhooks: [{ name: "a", url, secret: "whsec_x" }] }],
])("the configuration is refused: %s", (_, wrong) => {
  expect(notificationsSchema.safeParse(wrong).success).toBe(false);
});

test("recipients and templates beyond the limits are left out, with a warning", () => {
  const addresses = Array.from({ length: 60 }, (_, index) => `${index}@x.y`);
  const others = addresses.map((address) => `other${address}`);
  const error = { kind: "USER", code: "", message: "<".repeat(4_000) };
  const notifications = [
    notification("email", ["a".repeat(2_049), ...addresses], { template: "{{ error }}".repeat(5_000) }),
    notification("pagerDuty", others),
  ];
  const omissions: string[] = [];
  const execution = endedExecution({ notifications, error });
  const short = { ...own, emailer: { ...own.emailer, body: "B" } };
  const deliveries = planDeliveries(execution, short, (omission) => omissions.push(omission));
  expect(deliveries.map(({ target }) => target)).toEqual([...addresses, ...others.slice(0, 40)]);
  expect(new Set(deliveries.map(({ content }) => JSON.parse(content).html))).toEqual(new Set(["B"]));
  expect(omissions).toEqual([
    "21 recipients: at most 100, of 2048 bytes each, are notified",
    "a template has more than 131072 characters when it is rendered: the configured one is used",
  ]);
  const long = { ...own, emailer: { ...own.emailer, body: "{{ error }}".repeat(100) } };
  expect(() => planDeliveries(execution, long)).toThrow("a template has more than 131072 characters when it is rendered");
});
