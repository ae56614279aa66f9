const data = require('../lib/data');
const clients = require('../lib/accounts');
module.exports.bootstrap = async function () {
  const m = require('sails').models;
  await m.funder.createEach(data.funders);
  await m.call.createEach(data.calls);
  await m.serviceaccount.createEach(clients.accounts);
  await m.client.createEach(clients.clients);
};
