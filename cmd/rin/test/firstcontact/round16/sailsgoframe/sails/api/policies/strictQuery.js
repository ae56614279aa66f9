const { parameters, read } = require('../../lib/params');
module.exports = function strictQuery(req, res, proceed) {
  const { values, errors } = read(req.url, parameters[req.options.action] || {});
  if (errors.length) return res.problem(400, 'INVALID_PARAMETER', errors.map((e) => `${e.parameter}: ${e.message}`).join('; '), { errors });
  req.filters = values;
  return proceed();
};
