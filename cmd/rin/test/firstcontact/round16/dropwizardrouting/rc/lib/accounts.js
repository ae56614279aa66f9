'use strict';
const ROLE = 'EXTERNAL_API_CLIENT';
const FUNDING = 'urn:donau:funding';
const PROJECTS = 'urn:donau:projects';

exports.ROLE = ROLE;
exports.FUNDING = FUNDING;

exports.production = new Map([
  { id: 'donau-import', secret: 'k9+Tz=4%2Fq&W:r~8/uLm!e', user: 'sa-5f0c7d12', roles: [ROLE], affiliation: 'AFF-0017', audience: FUNDING },
  { id: 'donau-besuch', secret: 'b&2%+Hs:9=/vNx!t~Qe0%3D', user: 'sa-8be1309a', roles: [], affiliation: 'AFF-0023', audience: FUNDING },
  { id: 'donau-projekte', secret: 'p/7:=Yw+5%k&Zd~R!3u%2B', user: 'sa-c4417f60', roles: [ROLE], affiliation: 'AFF-0017', audience: PROJECTS },
  { id: 'donau-reserve', secret: 'r%3A+8&Gj=/x:T!1~mVb%q', user: 'sa-17d2aa95', roles: [ROLE], affiliation: 'AFF-0031', audience: FUNDING },
].map((c) => [c.id, c]));

exports.staging = new Map([
  { id: 'donau-probe', secret: 's=6%+Kf&/c:X~9!wPz%20+', user: 'sa-test-01', roles: [ROLE], affiliation: 'AFF-TEST', audience: 'urn:donau:staging' },
].map((c) => [c.id, c]));
