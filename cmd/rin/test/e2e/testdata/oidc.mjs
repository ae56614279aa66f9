// An authorization server of another maker: node-oidc-provider issuing JWTs for client credentials.
// Reads its clients from the environment: _ID and _SECRET of CLIENT, VISITOR, ELSEWHERE (whose tokens are for another API), SHORTLIVED (whose
// tokens last a second) and REHEARSAL, as far as they are given. A request with the header X-Brief-Token gets a token that lasts a second. Listens on a free port of loopback and prints its issuer.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

const audience = process.env.AUDIENCE;
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: ['CLIENT', 'VISITOR', 'ELSEWHERE', 'SHORTLIVED', 'REHEARSAL'].filter((name) => process.env[`${name}_ID`]).map((name) => ({
      client_id: process.env[`${name}_ID`],
      client_secret: process.env[`${name}_SECRET`],
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
    })),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'e2e' }] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx, client) => (client.clientId === process.env.ELSEWHERE_ID ? `${audience}:elsewhere` : audience),
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource, client) => ({
          scope: '',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: client.clientId === process.env.SHORTLIVED_ID || ctx.get('x-brief-token') ? 1 : 300,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
process.stdin.on('end', () => process.exit(0)).resume();
