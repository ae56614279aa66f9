'use strict';
process.chdir(__dirname);
process.env.NODE_ENV = process.env.NODE_ENV || 'development';
const sails = require('sails');
sails.lift({
  appPath: __dirname,
  port: Number(process.env.PORT || 1337),
  explicitHost: '127.0.0.1',
  hooks: { grunt: false, session: false, blueprints: false, i18n: false, pubsub: false, sockets: false, views: false, helpers: false, orm: require('sails-hook-orm') },
  log: { level: 'warn' },
  globals: false,
  keepResponseErrors: true,
}, (err) => {
  if (err) { console.error(err); process.exit(1); }
  sails.hooks.http.server.keepAliveTimeout = 65000;
  console.log('udn-funding listening on ' + sails.config.port);
});
for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => process.exit(0));
