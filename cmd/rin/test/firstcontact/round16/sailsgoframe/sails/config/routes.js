const P = '/udn/funding/v3';
module.exports.routes = {
  '/netz/register.json': { action: 'register/show' },
  '/.well-known/oauth-authorization-server/realms/forschung': { action: 'oauth/metadata' },
  '/realms/forschung/protocol/openid-connect/token': { action: 'oauth/token', env: 'prod' },
  '/realms/forschung/protocol/openid-connect/certs': { action: 'oauth/certs', env: 'prod' },
  '/udn-staging/oauth/token': { action: 'oauth/token', env: 'staging' },
  '/udn-staging/oauth/certs': { action: 'oauth/certs', env: 'staging' },
  '/udn/info/v1/oauth/info': { action: 'info/show', env: 'prod' },
  '/udn-staging/info/v1/oauth/info': { action: 'info/show', env: 'staging' },
  [P + '/api-docs']: { action: 'spec/show' },
  [P + '/calls']: { action: 'call/find', env: 'prod' },
  [P + '/calls/:id']: { action: 'call/findone', env: 'prod' },
  [P + '/funders']: { action: 'funder/find', env: 'prod' },
  [P + '/funders/:id']: { action: 'funder/findone', env: 'prod' },
  [P + '/statistics']: { action: 'statistics/show', env: 'prod' },
};
