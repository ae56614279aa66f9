const { base } = require('../../lib/tokens');
module.exports = {
  show(req, res) {
    return res.entity({ clientId: req.claims.client_id, serviceAccount: req.account.id, affiliation: req.account.affiliation, roles: req.account.roles, environment: req.options.env === 'prod' ? 'production' : 'staging',
      endpoints: req.options.env === 'prod' ? { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 2, url: base + '/udn/funding/v3/calls' }] } : {},
    });
  },
};
