// Clients of the production authorization server and of the staging one. Test data, no real secrets.
export const PRODUCTION = [
  { id: 'l5JrwtH4wivQyfMBDC5seRfSPPtHDwjjlJ8AefObSD85', secret: 'gOX4W8-Nfo8NVTy6B7iJwfT0JKq7YuVQvGTrVECgQGXvAljKBmtagmeOjbDuAGUp9XfBM-iUHkW9g5om_m6eDj3o', audience: 'ris', scopes: ['info', 'funding'], role: 'EXTERNAL_API_CLIENT', account: 'sa-4410', affiliation: 'AT-0112' },
  { id: '1X05NbYxyS-hyf4Is56KmUgPR8Ay1U1C_U_kqtpfLMty', secret: 'lAL_suMNUi_kBzjB7PAieFwE2v9L-D_JgtRccw-wGfDEvYp1UjBnaVcxWAHnbJnys9OfSAbYFdNycG0vn7DgpIPA', audience: 'ris', scopes: ['info', 'funding'], role: null, account: 'sa-4411', affiliation: 'AT-0113' },
  { id: 'KMb6kiOqMqQuVKVeuWxrjqNkJAA2Ygevzkjq5aU4uhNi', secret: 'kgFlO9lfi8TlvDmsVy2Nerj_8VPdS5pj5L7KOMmuwZ20-dUmUpxwgQ5l5oWUFuaxOzukHYzofp9NcIwFuFWtzoPG', audience: 'orgunit', scopes: ['orgunit'], role: 'EXTERNAL_API_CLIENT', account: 'sa-4412', affiliation: 'AT-0112' },
  { id: 'IY-hA1e_jXIjU1BcjW-FC8FUN6WkNEFXMhzuQm_s48bl', secret: '5uucY_V0iHeDHdPWMR1UMoth_B_QEJ_67IB60rag3tIGimBvAeEjj0bmSj4j23m4mN10-BW6QFHciQtJXHPmR0ea', audience: 'ris', scopes: ['info', 'funding'], role: 'EXTERNAL_API_CLIENT', account: 'sa-4413', affiliation: 'AT-0114' },
];
export const STAGING = [
  { id: 'lujOj6kArbGZRG_XpsQuZhU_4CLuMnojRN3duuHRM9eJ', secret: '6X5DHSOTSK3BC52nJmBIumrHHwYUKExjc97GGi36oOGSUQ0FzEvOY0z-EAlTlHw8FmTK-ssHpJDLIYMP57aOZgoQ', audience: 'ris', scopes: ['info', 'funding'], role: 'EXTERNAL_API_CLIENT', account: 'sa-test-1', affiliation: 'AT-TEST' },
];
