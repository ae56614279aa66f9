module.exports = function postOnly(req, res, proceed) {
  if (req.method === 'POST') return proceed();
  res.set('Allow', 'POST, OPTIONS');
  res.set('Cache-Control', 'no-store');
  res.set('Pragma', 'no-cache');
  if (req.method === 'OPTIONS') return res.status(204).end();
  return res.problem(405, 'METHOD_NOT_ALLOWED', 'Token werden mit POST angefordert.');
};
