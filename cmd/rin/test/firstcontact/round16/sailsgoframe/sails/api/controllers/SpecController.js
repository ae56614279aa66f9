const spec = require('../../lib/openapi');
module.exports = { show(req, res) { return res.entity(spec, { cache: 'public, max-age=60' }); } };
