import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** A received mail. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** User of the connection; undefined without sign-in. */
  readonly user: string | undefined;
  /** Headers and body, unchanged. */
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  stop(): Promise<void>;
}

export interface MailServerOptions {
  /** Refuses a recipient with an SMTP code and text; undefined accepts it. */
  readonly reject?: (recipient: string) => { readonly code: number; readonly message: string } | undefined;
  /** Required credentials. Absent: no sign-in. */
  readonly login?: { readonly user: string; readonly password: string };
}

/**
 * A mail server on a free local port that keeps mails in memory. Its certificate is self-signed.
 */
export async function mailServer({ reject = () => undefined, login }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: login === undefined,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) => {
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(Object.assign(new Error("wrong user or password"), { responseCode: 535 }));
    },
    onRcptTo: ({ address }, _, done) => {
      const rejection = reject(address);
      done(rejection && Object.assign(new Error(rejection.message), { responseCode: rejection.code }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: typeof session.user === "string" ? session.user : undefined,
          text: Buffer.concat(chunks).toString("utf8"),
        });
        done();
      });
    },
  });
  // A client that disconnects midway is no error of the server.
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
