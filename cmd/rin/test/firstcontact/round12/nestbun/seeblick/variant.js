'use strict';
const name = process.env.NODE || 'nest-base';
module.exports = { is: (v) => name === `nest-${v}` };
