module.exports = function hasRole(req, res, proceed) {
  if (req.account.roles.includes('EXTERNAL_API_CLIENT') && req.account.affiliation) return proceed();
  res.set('WWW-Authenticate', 'Bearer realm="udn", error="insufficient_scope", error_description="The role EXTERNAL_API_CLIENT is required"');
  return res.problem(403, 'ROLE_MISSING', 'Dem Dienstkonto fehlt die Rolle EXTERNAL_API_CLIENT.');
};
