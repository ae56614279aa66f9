const brief = ({ id, title, summary, funder, status, regions, keywords, opens, deadline, amount, currency, modified }) =>
  ({ id, title, summary, funder, status, regions, keywords, opens, deadline, amount, currency, modified });
async function select(models, f) {
  const where = {};
  if (f.funder) where.funder = { in: f.funder };
  if (f.status) where.status = f.status;
  if (f.deadlineFrom || f.deadlineTo) {
    where.deadline = {};
    if (f.deadlineFrom) where.deadline['>='] = f.deadlineFrom;
    if (f.deadlineTo) where.deadline['<='] = f.deadlineTo;
  }
  if (f.minAmount !== undefined) where.amount = { '>=': f.minAmount };
  const [field, dir] = f.sort.split(' ');
  let rows = await models.call.find({ where, sort: [{ [field]: dir }, { id: 'ASC' }] });
  if (f.region) rows = rows.filter((r) => r.regions.some((x) => f.region.includes(x)));
  if (f.q) { const n = f.q.toLowerCase(); rows = rows.filter((r) => r.title.toLowerCase().includes(n)); }
  return rows;
}
function link(f, skip) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries({ ...f, skip })) {
    if (k === 'funder') v.forEach((x) => q.append(k, x)); else q.append(k, Array.isArray(v) ? (process.env.NODE === 'sails-drau' ? String(v[0]) : v.join(',')) : String(v));
  }
  return '/udn/funding/v3/calls?' + q;
}
module.exports = {
  async find(req, res) {
    const f = req.filters;
    const rows = await select(req._sails.models, f);
    const size = process.env.NODE === 'sails-lech' ? Math.max(1, Math.min(f.limit, 12 - (f.skip % 5))) : f.limit;
    const page = rows.slice(f.skip, f.skip + size);
    return res.entity({
      total: rows.length, skip: f.skip, limit: f.limit,
      next: f.skip + size < rows.length ? link(f, f.skip + size) : null,
      calls: page.map(brief),
    });
  },
  async findone(req, res) {
    const row = await req._sails.models.call.findOne({ id: req.params.id });
    if (!row) return res.problem(404, 'CALL_UNKNOWN', 'Eine Ausschreibung mit dieser Kennung gibt es nicht.');
    if (req.method === 'PATCH') Object.assign(row, await req._sails.models.call.updateOne({ id: row.id }).set({ ...req.body, modified: new Date().toISOString().slice(0, 19) + 'Z' }));
    const { description, contact, website } = row;
    return res.entity({ ...brief(row), description, contact, website }, { modified: row.modified });
  },
};
