'use strict';
const { IsOptional, IsIn, Matches, ValidateBy } = require('class-validator');
const deco = require('./decorate');
const { TYPES, REGIONS, SORTS } = require('./data');

// query strings: strict about percent-encoding, "+" is a space, a name that comes twice becomes a list
function parseQuery(str) {
  const out = Object.create(null);
  for (const piece of (str || '').split('&')) {
    if (piece === '') continue;
    const eq = piece.indexOf('=');
    let name = eq < 0 ? piece : piece.slice(0, eq);
    let value = eq < 0 ? '' : piece.slice(eq + 1);
    try { name = decodeURIComponent(name.replace(/\+/g, ' ')); } catch { /* stays as it is: no parameter has such a name */ }
    try { value = decodeURIComponent(value.replace(/\+/g, ' ')); } catch { value = ['not well encoded']; }
    if (name in Object.prototype) name = `${name}=`; // never the name of a parameter
    out[name] = name in out ? [].concat(out[name], value) : value;
  }
  return { ...out };
}

const IsDate = () => ValidateBy({
  name: 'date',
  validator: {
    validate: (v) => {
      const m = typeof v === 'string' && /^(\d{4})-(\d{2})-(\d{2})$/.exec(v);
      if (!m) return false;
      const [y, mo, d] = m.slice(1).map(Number);
      const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
      return mo >= 1 && mo <= 12 && d >= 1 && d <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1];
    },
    defaultMessage: () => '$property must be a date of the calendar, YYYY-MM-DD',
  },
});
const IsWhole = (min, max) => ValidateBy({
  name: 'whole',
  validator: {
    validate: (v) => typeof v === 'string' && /^(0|[1-9]\d{0,9})$/.test(v) && +v >= min && +v <= max,
    defaultMessage: () => `$property must be a whole number from ${min} to ${max}`,
  },
});
const IsText = (min, max) => ValidateBy({
  name: 'text',
  validator: {
    validate: (v) => typeof v === 'string' && [...v].length >= min && [...v].length <= max,
    defaultMessage: () => `$property must have ${min} to ${max} characters`,
  },
});

class NoQuery {}

class PageQuery {}
deco.prop(PageQuery, 'page', IsOptional(), IsWhole(1, 10000));
deco.prop(PageQuery, 'perPage', IsOptional(), IsWhole(1, 50));

class CallsQuery extends PageQuery {}
deco.prop(CallsQuery, 'q', IsOptional(), IsText(1, 100));
deco.prop(CallsQuery, 'funder', IsOptional(), Matches(/^[a-z]{1,20}$/, { message: 'funder must be an id of 1 to 20 letters a to z' }));
deco.prop(CallsQuery, 'type', IsOptional(), IsIn(TYPES));
deco.prop(CallsQuery, 'region', IsOptional(), IsIn(REGIONS));
deco.prop(CallsQuery, 'deadlineFrom', IsOptional(), IsDate());
deco.prop(CallsQuery, 'deadlineTo', IsOptional(), IsDate());
deco.prop(CallsQuery, 'minBudget', IsOptional(), IsWhole(0, 1000000000));
deco.prop(CallsQuery, 'ongoing', IsOptional(), IsIn(['true', 'false'], { message: 'ongoing must be true or false' }));
deco.prop(CallsQuery, 'sort', IsOptional(), IsIn(SORTS));

class DeadlinesQuery extends PageQuery {}
deco.prop(DeadlinesQuery, 'from', IsOptional(), IsDate());
deco.prop(DeadlinesQuery, 'to', IsOptional(), IsDate());

module.exports = { parseQuery, NoQuery, PageQuery, CallsQuery, DeadlinesQuery };
