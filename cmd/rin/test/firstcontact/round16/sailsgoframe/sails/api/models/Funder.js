module.exports = { attributes: { name: { type: 'string', required: true }, city: { type: 'string', required: true }, website: { type: 'string', required: true } } };
