var fabriscope = (() => { return function(M) { return Promise.resolve({}); }; })();
if (typeof exports === 'object' && typeof module === 'object') module.exports = fabriscope;
