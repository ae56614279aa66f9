const tokens = require('../../lib/tokens');
module.exports = async function hasToken(req, res, proceed) {
  const env = req.options.env;
  const headers = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === 'authorization') headers.push(req.rawHeaders[i + 1]);
  const realm = env === 'prod' ? 'udn' : 'udn-staging';
  if (headers.length > 1) {
    res.set('WWW-Authenticate', `Bearer realm="${realm}", error="invalid_request", error_description="more than one Authorization header"`);
    return res.problem(400, 'INVALID_REQUEST', 'Mehr als ein Authorization-Header.');
  }
  const h = (headers[0] || '').trim();
  if (!/^bearer(\s|$)/i.test(h)) {
    res.set('WWW-Authenticate', `Bearer realm="${realm}"`);
    return res.problem(401, 'NO_TOKEN', 'Diese Ressource verlangt ein Zugriffstoken.');
  }
  const m = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(h);
  const claims = m && tokens.verify(m[1], env);
  const account = claims && await req._sails.models.serviceaccount.findOne({ id: claims.sub });
  if (!account) {
    res.set('WWW-Authenticate', `Bearer realm="${realm}", error="invalid_token", error_description="The access token is invalid or has expired"`);
    return res.problem(401, 'INVALID_TOKEN', 'Das Zugriffstoken ist ungültig oder abgelaufen.');
  }
  req.account = account;
  req.claims = claims;
  return proceed();
};
