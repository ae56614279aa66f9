'use strict';
// the name of the node that runs; empty or "rc-base" is the plain one
const name = process.env.NODE || 'rc-base';
exports.is = (...names) => names.includes(name);
