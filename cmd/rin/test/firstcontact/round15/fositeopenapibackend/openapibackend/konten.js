'use strict';
const prod = [
  { id: 'mhs-import', secret: 'q7:W+e%25/#=Rt&z~U !9oP', sub: 'svc-4411', affiliation: 'ROR-05n3x4p02', audience: 'ris-foerderungen', roles: ['EXTERNAL_API_CLIENT'] },
  { id: 'mhs-gast', secret: 'G%st+4:x/=&Lo!7~rWq', sub: 'svc-4412', affiliation: 'ROR-03prydq77', audience: 'ris-foerderungen', roles: ['GAST'] },
  { id: 'mhs-projekte', secret: 'T&m=8%/k:Vq+!a~3ZxY', sub: 'svc-4413', affiliation: 'ROR-04d836q62', audience: 'ris-projekte', roles: ['EXTERNAL_API_CLIENT'] },
  { id: 'mhs-reserve', secret: 'n+R%41:/s=e&rve!~6Hd', sub: 'svc-4414', affiliation: 'ROR-05n3x4p02', audience: 'ris-foerderungen', roles: ['EXTERNAL_API_CLIENT'] },
];
const staging = [
  { id: 'mhs-probe', secret: 'Pr%3A+o/b&e=:!~5Kc', sub: 'svc-t001', affiliation: 'ROR-05n3x4p02', audience: 'ris-foerderungen-staging', roles: ['EXTERNAL_API_CLIENT'] },
];
module.exports = { prod, staging };
