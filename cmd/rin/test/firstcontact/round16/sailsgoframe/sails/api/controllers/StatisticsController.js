const { STATUS } = require('../../lib/params');
module.exports = {
  async show(req, res) {
    const rows = await req._sails.models.call.find();
    const funders = await req._sails.models.funder.find({ sort: 'id ASC' });
    return res.entity({
      total: rows.length,
      byStatus: Object.fromEntries(STATUS.map((s) => [s, rows.filter((r) => r.status === s).length])),
      byFunder: funders.map((f) => ({ funder: f.id, calls: rows.filter((r) => r.funder === f.id).length })),
    });
  },
};
