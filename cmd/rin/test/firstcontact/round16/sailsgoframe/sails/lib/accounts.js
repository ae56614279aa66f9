'use strict';
const crypto = require('crypto');
const hash = (s) => crypto.createHash('sha256').update(s, 'utf8').digest('hex');
const c = (id, secret, sub, audience, env) => ({ id, secretHash: hash(secret), serviceAccount: sub, audience, env });
module.exports = {
  hash,
  clients: [
    c('udn-abruf', 'K7$v+Q=2/%5Bx&n:~Tr!9eWd', 'sa-4101', 'udn-funding', 'prod'),
    c('udn-gast', 'V1&s!u:7+=/%hQ~0wErT&z', 'sa-4102', 'udn-funding', 'prod'),
    c('udn-projekt', 'P=j%2F~k:t+E/5!Zu&oM4', 'sa-4103', 'udn-projects', 'prod'),
    c('udn-reserve', 'R+s:e%41=!v~/b&cX9Qn', 'sa-4104', 'udn-funding', 'prod'),
    c('udn-probe', 'T%3Ae+s&t=/9~q!L:wBk', 'sa-9001', 'udn-staging', 'staging'),
  ],
  accounts: [
    { id: 'sa-4101', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-0017' },
    { id: 'sa-4102', roles: [], affiliation: 'AFF-0023' },
    { id: 'sa-4103', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-0017' },
    { id: 'sa-4104', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-0017' },
    { id: 'sa-9001', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-TEST' },
  ],
};
