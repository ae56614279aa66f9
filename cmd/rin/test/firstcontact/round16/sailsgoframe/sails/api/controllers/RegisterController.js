const { base } = require('../../lib/tokens');
module.exports = {
  show(req, res) {
    return res.entity({ member: [{ id: 'UDN', acronym: 'UDN', name: 'Universität an der Donau', contact: 'ris@udn.invalid', oauth2: base + '/realms/forschung/protocol/openid-connect/token', info: base + '/udn/info/v1/oauth/info/' }] }, { cache: 'public, max-age=60' });
  },
};
