module.exports.models = {
  schema: true,
  migrate: 'drop',
  datastore: 'default',
  dataEncryptionKeys: {},
  attributes: { id: { type: 'string', required: true } },
};
