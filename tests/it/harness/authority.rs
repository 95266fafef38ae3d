//! Certificates.

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

/// An authority that signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

impl Authority {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for this machine, for one end or the other, and its key. It was good long ago, if it is to be old.
    pub fn sign(&self, purpose: ExtendedKeyUsagePurpose, is_old: bool) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages = vec![purpose];
        // Another name than the authority's, because a certificate whose two names agree passes for self-signed.
        params.distinguished_name.push(DnType::CommonName, "127.0.0.1");
        if is_old {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}
