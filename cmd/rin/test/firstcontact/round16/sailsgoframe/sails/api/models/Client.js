module.exports = { attributes: {
  secretHash: { type: 'string', required: true }, serviceAccount: { type: 'string', required: true },
  audience: { type: 'string', required: true }, env: { type: 'string', required: true },
} };
