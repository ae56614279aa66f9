module.exports = { attributes: { roles: { type: 'json' }, affiliation: { type: 'string' } } };
