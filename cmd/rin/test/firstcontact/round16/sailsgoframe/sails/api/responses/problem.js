const titles = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 412: 'Precondition Failed', 413: 'Content Too Large', 500: 'Internal Server Error' };
module.exports = function problem(status, code, detail, extra) {
  const { req, res } = this;
  const body = Buffer.from(JSON.stringify({ type: 'about:blank', title: titles[status], status, detail, code, ...extra }));
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/problem+json');
  res.setHeader('Content-Language', 'de');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Length', body.length);
  res.end(req.method === 'HEAD' ? undefined : body);
};
