import { type MailServer, mailServer } from "@flyte-ts/testing";
import { afterEach, expect, test } from "vitest";
import { RetryableSendError, PermanentSendError } from "./send-errors.js";
import { isMailAddress, type Mail, sendMail, type SmtpOptions } from "./mail.js";

const servers: MailServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function started(options?: Parameters<typeof mailServer>[0]): Promise<MailServer> {
  const server = await mailServer(options);
  servers.push(server);
  return server;
}
const optionsFor = ({ port }: { readonly port: number }): SmtpOptions => ({
  host: "127.0.0.1",
  port,
  tls: "opportunistic",
  verifyCertificate: false,
  timeoutMs: 5_000,
});
const mail: Mail = { messageId: "m1@flyte.test", from: "flyte@example.com", to: "ann@example.com", subject: "S", html: "<b>B</b>" };

test("a mail arrives complete, with the given message id", async () => {
  const server = await started();
  await sendMail(mail, optionsFor(server));
  expect(server.mails).toHaveLength(1);
  expect(server.mails[0]).toMatchObject({ from: "flyte@example.com", to: ["ann@example.com"], user: undefined });
  expect(server.mails[0]?.text).toMatch(/^Message-ID: <m1@flyte\.test>\r$/m);
  expect(server.mails[0]?.text).toMatch(/^Content-Type: text\/html; charset=utf-8\r$/m);
});

test("mail is sent with user name and password; a refused password is retried, because the operator may correct it", async () => {
  const server = await started({ login: { user: "flyte", password: "p" } });
  await sendMail(mail, { ...optionsFor(server), user: "flyte", password: async () => "p" });
  expect(server.mails[0]?.user).toBe("flyte");
  await expect(sendMail(mail, { ...optionsFor(server), user: "flyte", password: async () => "q" })).rejects.toBeInstanceOf(
    RetryableSendError,
  );
});

test("an SMTP status about a recipient is a permanent or a transient failure", async () => {
  const server = await started({ reject: (to) => ({ code: to.startsWith("ann") ? 550 : 451, message: `no ${to}` }) });
  await expect(sendMail(mail, optionsFor(server))).rejects.toBeInstanceOf(PermanentSendError);
  await expect(sendMail({ ...mail, to: "bob@example.com" }, optionsFor(server))).rejects.toBeInstanceOf(RetryableSendError);
});

test("mail is sent over TLS, and an untrusted certificate is refused", async () => {
  const server = await started();
  await sendMail(mail, { ...optionsFor(server), tls: "starttls" });
  await expect(sendMail(mail, { ...optionsFor(server), tls: "starttls", verifyCertificate: true })).rejects.toBeInstanceOf(
    RetryableSendError,
  );
  await expect(sendMail(mail, { ...optionsFor(server), tls: "opportunistic", verifyCertificate: true })).rejects.toBeInstanceOf(
    RetryableSendError,
  );
  expect(server.mails).toHaveLength(1);
});

test("an unreachable server is a transient failure", async () => {
  const server = await started();
  await server.stop();
  servers.length = 0;
  await expect(sendMail(mail, optionsFor(server))).rejects.toBeInstanceOf(RetryableSendError);
});

test("line breaks in subjects and recipients add neither headers nor recipients", async () => {
  const server = await started();
  await sendMail({ ...mail, subject: "a\r\nBcc: eve@example.com\r\n\r\nbody" }, optionsFor(server));
  expect(server.mails[0]?.to).toEqual(["ann@example.com"]);
  expect(server.mails[0]?.text).not.toMatch(/^Bcc:/m);
  for (const to of ["ann@example.com, eve@example.com", "ann@example.com\r\nBcc: eve@example.com", "Ann <ann@example.com>", "ann", ""]) {
    expect(isMailAddress(to)).toBe(false);
    await expect(sendMail({ ...mail, to }, optionsFor(server))).rejects.toBeInstanceOf(PermanentSendError);
  }
  expect(server.mails).toHaveLength(1);
});
