module.exports = function serverError(err) {
  this.req._sails.log.error(err);
  if (this.res.headersSent) return this.res.end();
  return this.res.problem(500, 'INTERNAL', 'Ein unerwarteter Fehler ist aufgetreten.');
};
