module.exports = function badRequest(err) {
  this.req._sails.log.error(err);
  if (this.res.headersSent) return this.res.end();
  return this.res.problem(400, 'BAD_REQUEST', 'Die Anfrage ist fehlerhaft.');
};
