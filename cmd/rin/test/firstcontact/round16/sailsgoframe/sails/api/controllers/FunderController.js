const show = async (models, f) => ({ id: f.id, name: f.name, city: f.city, website: f.website, callCount: await models.call.count({ funder: f.id }) });
module.exports = {
  async find(req, res) {
    const rows = await req._sails.models.funder.find({ sort: 'id ASC' });
    return res.entity({ funders: await Promise.all(rows.map((f) => show(req._sails.models, f))) });
  },
  async findone(req, res) {
    const row = await req._sails.models.funder.findOne({ id: req.params.id });
    if (!row) return res.problem(404, 'FUNDER_UNKNOWN', 'Eine Förderstelle mit dieser Kennung gibt es nicht.');
    return res.entity(await show(req._sails.models, row));
  },
};
