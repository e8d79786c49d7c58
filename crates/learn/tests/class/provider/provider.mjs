// An identity provider for the tests: node provider.mjs PORT ADDRESS SECRET WHERE [HOST], where the address is the class's. It knows
// everyone by the name that is typed, whatever the password. Who signs in as `unverified` has an address that nobody has
// checked, and of `unstated` it does not say. What it says of a person is in the token or, by WHERE = user, at an address alone.

import Provider from "oidc-provider";

const [port, address, secret, where, host = "127.0.0.1"] = process.argv.slice(2);
const verified = (id) => (id === "unstated" ? {} : { email_verified: id !== "unverified" });
const claims = (id) => ({ sub: id, preferred_username: id, email: `${id}@uni.edu`, ...verified(id) });

const provider = new Provider(`http://${host}:${port}`, {
  clients: [{ client_id: "class", client_secret: secret, redirect_uris: [`${address}/openid/back`] }],
  claims: { email: ["email", "email_verified"], profile: ["preferred_username"] },
  conformIdTokenClaims: where === "user",
  cookies: { keys: ["of the tests"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => claims(id) }),
});
// What goes wrong is said on the standard error.
provider.on("server_error", (_, error) => console.error(error));
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
