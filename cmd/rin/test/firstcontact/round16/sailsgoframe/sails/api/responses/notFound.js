module.exports = function notFound() { return this.res.problem(404, 'NOT_FOUND', 'Unter dieser Adresse gibt es nichts.'); };
